"""One module per question; each has `DATASETS`, `run(dataset, options)` and `draw(exhibit)`."""
