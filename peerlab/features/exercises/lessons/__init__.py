"""What labs show beside their exercises, and labs as articles of a page and with their answers."""
