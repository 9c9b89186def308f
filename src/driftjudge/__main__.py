"""`python -m driftjudge` is the command line, wherever the script is not on the path."""

from driftjudge.cli import main

if __name__ == "__main__":
    main()
