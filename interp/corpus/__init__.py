"""Where text comes from, how it is split and packed."""
