"""From a scenario to its trace: the referee (SimPy), and faster engines that give the same spans or refuse."""
