"""The transfer tasks of the labs, one module each: a machine, log or trace that no lab has shown."""
