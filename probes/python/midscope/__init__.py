# SPDX-License-Identifier: MIT
"""Midscope from Python: position bias of language models.

The model runs in an engine process (``midscope serve --stdio``), here or on another machine; this package is a client of it.

    import midscope

    model = midscope.load("embedded")
    prompt = model.task("list:lines=20", place=10, sample=3)
    run = model.run(prompt, capture=["blocks.12.hook_resid_post"])
    run.attention                            # xarray.DataArray ('layer', 'head', 'key')
    live = model.what_if(prompt)
    live("channel(100, factor=-1, layers=8-25)").answer_nll
"""

from midscope._compare import compare_models
from midscope._engine import Cancelled, Error
from midscope._influence import influence
from midscope._lens import fit_lens
from midscope._model import HookPoint, Model, load
from midscope._prompt import Prompt
from midscope._report import report
from midscope._results import Generation, Run, WhatIf, WhatIfResult, open
from midscope._sweep import Sweep
from midscope._tiny import make_tiny_model, write_repeated_texts
from midscope._tune import tune

__version__ = "0.2.0"
__all__ = ["Cancelled", "Error", "Generation", "HookPoint", "Model", "Prompt", "Run", "Sweep", "WhatIf", "WhatIfResult",
           "compare_models", "fit_lens", "influence", "load", "make_tiny_model", "open", "report", "tune", "write_repeated_texts"]
