"""What `el1bench test` consists of: a pool of jobs, and the jobs of each kind of test."""
