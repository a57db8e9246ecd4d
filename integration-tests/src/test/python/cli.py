"""The aws cli. What it imports is imported once: a start of its program takes a second, most of it for that."""

import os
import subprocess
import sys
import tempfile

import awscli.clidriver
import awscli.handlers  # noqa: F401  what a session of the cli loads first


def run(*arguments, **environment):
    """Runs a command in a process of its own. Threads of this one would not be in it, so there must be none."""
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            code = None
            try:
                os.dup2(output.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                code = _main(arguments, environment)
            finally:  # whatever is raised must not go on here as a second copy of the test
                os._exit(code if isinstance(code, int) else 1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode())
        return subprocess.CompletedProcess(arguments, status, *texts)


def _main(arguments, environment):
    os.environ.update(environment)
    sys.argv = ["aws", *map(str, arguments)]
    try:
        return awscli.clidriver.main()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 255
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
