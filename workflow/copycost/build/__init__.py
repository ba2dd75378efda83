"""The C programs and the checkout they are built from."""
