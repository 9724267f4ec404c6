"""Speed and memory against others, as ratios measured in one run: ``make bench``."""
