"""The command line in the test's own process: a process of its own costs half a second of imports, and simulates all anew."""

import io
import os
import signal
import warnings
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from unittest import mock

from peerlab.cli import main


def peerlab_command(*words, cwd=".", **environment):
    """Return exit status, output and error output of ``peerlab`` with these words, in a folder, with more environment."""
    out, problem = io.StringIO(), io.StringIO()
    try:
        with chdir(cwd), mock.patch.dict(os.environ, environment), _as_by_itself(out, problem):
            status = main([str(word) for word in words])
    except SystemExit as ended:
        status = ended.code or 0
    return status, out.getvalue(), problem.getvalue()


@contextmanager
def _as_by_itself(out, problem):
    """Keep what is printed; let warnings be warnings, which are errors in tests; take back which signals end a process in order."""
    handlers = {name: signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with redirect_stdout(out), redirect_stderr(problem), warnings.catch_warnings(action="default"):
            yield
    finally:
        for name, handler in handlers.items():
            signal.signal(name, handler)
