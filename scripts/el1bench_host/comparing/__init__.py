"""The parts of `el1bench compare`."""
