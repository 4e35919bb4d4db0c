"""Driving a real Chromium. It is a package so that its browser lives as long as its tests and no longer (fixtures of scope "package")."""
