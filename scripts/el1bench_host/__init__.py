"""The host side of el1bench: builds the image, runs it, and turns its log into results."""
