# Stands in for a program that is given to Python as a file; imported as a module, it is the program.
import os

_run = @RUN@
if __name__ == "__main__":
    import sys

    os.environ["_TMR_PYTHON"] = sys.executable
    os.execv("/bin/sh", ["sh", _run + "/stand_in", *sys.argv[1:]])
else:
    with open(_run + "/real") as _path, open(_path.read().strip()) as _real:
        exec(compile(_real.read(), __file__, "exec"))
