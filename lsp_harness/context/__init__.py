"""What the model sees: fragments with a cost, within a budget."""
