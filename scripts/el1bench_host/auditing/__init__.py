"""What `el1bench audit` looks for, in an image's instructions and in C sources."""
