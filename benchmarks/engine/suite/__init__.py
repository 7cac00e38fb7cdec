"""One benchmark a module; each has `run(lab) -> Result`."""
