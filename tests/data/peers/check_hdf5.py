# SPDX-License-Identifier: MIT
"""Reads the files of data_write_example as others do: h5py, xarray with both engines, and by the rules
that NeXus viewers (silx, h5web) follow to find the default plot.

usage: check_hdf5.py WRITER FOLDER    (WRITER: the program data_write_example)
"""
import importlib.util
import math
import pathlib
import subprocess
import sys


def default_plot(file):
    """Follows `default` from the root to an NXdata group, and checks its signal and axes."""
    group = file
    while group.attrs["NX_class"] != "NXdata":
        group = group[group.attrs["default"]]
    signal = group[group.attrs["signal"]]
    axes = list(group.attrs["axes"])
    assert len(axes) == signal.ndim, (axes, signal.shape)
    for position, axis in enumerate(axes):
        assert group[axis].shape == (signal.shape[position],), axis
        assert group.attrs[axis + "_indices"] == position
        assert [name for name in signal.dims[position].keys()] == [axis]
    return signal


def names_in_tree(file):
    names = []
    file.visit(lambda path: names.append(path.rsplit("/", 1)[-1]))
    return names


def check_probe(h5py, path):
    with h5py.File(path) as file:
        assert file.attrs["schema_name"] == "midscope" and file.attrs["schema_version"] == 1
        assert file.attrs["NX_class"] == "NXroot" and file["entry"].attrs["NX_class"] == "NXentry"
        signal = default_plot(file)
        assert signal.name.endswith("/last_query_attention") and signal.shape == (3, 2, 4)
        assert signal.compression == "gzip" and signal.shuffle and signal.chunks
        assert math.isnan(signal[0, 1, 1]) and signal[2, 1, 3] == 23
        group = signal.parent
        assert group["answer_nll"].attrs["units"] == "nat"
        assert group["frequency"].attrs["units"] == "1/token"
        assert list(group["key_label"].asstr()[:2]) == ["<s>", "caf\u00e9"]
        assert list(group["correct"]) == [1, 0] and group["correct"].attrs["kind"] == "boolean"
        assert group["token_ids"].dtype == "int64" and group["elapsed"][()] == 12.5
        provenance = file["entry/provenance"].attrs
        assert provenance["model_path"] == "model.gguf" and provenance["seed"] == -7
        names = names_in_tree(file)
        for name in ("last_query_attention", "token_ids", "last_logits"):
            assert names.count(name) == 1, name


def check_sweep(h5py, path):
    with h5py.File(path) as file:
        assert default_plot(file).name == "/entry/sweep/answer_nll"
        group = file["entry/sweep"]
        assert list(group["sample"]) == [0, 3, 5]
        attention = group["last_query_attention"]
        assert [dim.keys()[0] for dim in attention.dims] == ["sample", "layer", "head", "key"]
        assert attention.chunks == (1,) + attention.shape[1:], "one chunk a sample"
        for row, count in enumerate(group["key_count"]):
            values = attention[row]
            assert all(math.isnan(x) for x in values[:, :, count:].ravel())
            assert not any(math.isnan(x) for x in values[:, :, :count].ravel())
        assert file["entry"].attrs["plan_json"] == '{"seed":1}'


def check_virtual(h5py, path, plain):
    import numpy
    with h5py.File(path) as file, h5py.File(plain) as other:
        assert default_plot(file).name == default_plot(other).name
        for name, expected in other["entry/sweep"].items():
            found = file["entry/sweep"][name]
            # An array that is not virtual is small: a table, or an axis.
            assert found.is_virtual == (name in ("answer", "key_label", "last_query_attention", "token_ids")), name
            assert found.dtype == expected.dtype and found.shape == expected.shape, name
            numpy.testing.assert_array_equal(found[()], expected[()], err_msg=name)
        assert [dim.keys()[0] for dim in file["entry/sweep/last_query_attention"].dims] == [
            "sample", "layer", "head", "key"]


def check_npz(path):
    import numpy
    with numpy.load(path, allow_pickle=False) as file:
        assert file["last_query_attention"].shape == (3, 2, 4)
        assert file["last_query_attention"].dtype == "float32"
        assert math.isnan(file["last_query_attention"][0, 1, 1])
        assert file["correct"].dtype == bool and file["correct"].tolist() == [True, False]
        assert file["token_ids"].tolist() == [1, -1, 2**63 - 1, -2**63]
        assert file["token_text"].tolist() == ["a", "", "\U0001f600", "x y"]
        assert file["key_label"][1] == "caf\u00e9" and file["place"].tolist() == [1, 20]
        assert file["elapsed"][()] == 12.5 and file["none_at_all"].shape == (0,)


def check_xarray(xarray, engine, folder):
    with xarray.open_dataset(folder / "probe.h5", engine=engine,
                             group="entry/last_query_attention_record") as data:
        assert data.last_query_attention.dims == ("layer", "head", "key")
        assert data.last_query_attention.sel(layer=2, head=1).values.tolist() == [20, 21, 22, 23]
        assert data.answer_nll.sel(place=20).item() == 1e-300
        assert data.last_query_attention.coords["key_label"].values[0] == "<s>"
        assert data.sizes["vocabulary"] == 50000
    with xarray.open_dataset(folder / "sweep.h5", engine=engine, group="entry/sweep") as data:
        assert data.answer_nll.dims == ("sample", "setting", "place")
        assert data.answer_nll.mean("sample").shape == (2, 3)
        assert data.last_query_attention.sel(sample=3).dims == ("layer", "head", "key")
        with xarray.open_dataset(folder / "virtual.h5", engine=engine, group="entry/sweep") as joined:
            xarray.testing.assert_identical(joined.load(), data.load())


def main(writer, folder):
    folder = pathlib.Path(folder)
    subprocess.run([writer, folder], check=True)
    import h5py
    check_probe(h5py, folder / "probe.h5")
    check_sweep(h5py, folder / "sweep.h5")
    check_virtual(h5py, folder / "virtual.h5", folder / "sweep.h5")
    check_npz(folder / "probe.npz")
    print("h5py", h5py.__version__, "reads all files")
    for engine, module in (("h5netcdf", "h5netcdf"), ("netcdf4", "netCDF4")):
        if not (importlib.util.find_spec("xarray") and importlib.util.find_spec(module)):
            print(f"not checked: xarray with {engine} (not installed)")
            continue
        import xarray
        check_xarray(xarray, engine, folder)
        print(f"xarray {xarray.__version__} with {engine} reads all files")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
