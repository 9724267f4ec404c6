"""What `interp` is measured against: one file each, as one would write it without `interp`."""
