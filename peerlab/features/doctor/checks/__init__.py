"""The checks of the doctor, one module for each part of a host."""
