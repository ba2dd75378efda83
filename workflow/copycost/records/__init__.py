"""Records of repetitions, and the tidy table made of them."""
