"""The paper's evaluation, as a benchmark that anyone can run."""
