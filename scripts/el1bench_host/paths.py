"""Where the source tree is, and what its folders are called."""

from pathlib import Path

SOURCE_TREE = Path(__file__).resolve().parent.parent.parent
BOARDS = SOURCE_TREE / "boards"
BUILD = SOURCE_TREE / "build"


def board_names() -> list[str]:
    """Every board: a folder under boards/ that holds a board.cmake."""
    return sorted(path.parent.name for path in BOARDS.glob("*/board.cmake"))
