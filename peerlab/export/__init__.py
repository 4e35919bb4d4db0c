"""Pictures that leave the lab: pages that play without a kernel."""
