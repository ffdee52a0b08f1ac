import pytest

from ilfs.cli import main


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that makes a folder the current one, and returns a function that runs ``ilfs`` in it."""

    def run(*arguments):
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    def run_in(folder):
        monkeypatch.chdir(folder)
        return run

    return run_in
