#!/bin/sh
# run.sh — the accuracy suite of `make check`: every suite of measurements holds its recorded floor.
exec "${SUANPAN_BUILD:-build/release}/accuracy" --floors tests/accuracy/floors.json tests/data/accuracy
