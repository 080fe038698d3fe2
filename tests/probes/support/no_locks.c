// SPDX-License-Identifier: MIT
// Preloaded into the program: a file system without locks, as Lustre without `-o flock` is; with
// LATE_LOCKS one whose locks take a second, in which another process can do much.
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int flock(int descriptor, int operation) {
  if (getenv("LATE_LOCKS")) {
    sleep(1);
    return (int)syscall(SYS_flock, descriptor, operation);
  }
  errno = ENOLCK;
  return -1;
}
