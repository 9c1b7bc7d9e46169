"""Runs applications of os-ken, as `osken-manager MODULE...` does, which its release lacks."""

import logging
import sys

from os_ken import cfg
from os_ken.base.app_manager import AppManager

# It declares the options that the applications read.
from os_ken.controller import controller  # noqa: F401

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    cfg.CONF(args=[], project="os_ken")
    AppManager.run_apps(sys.argv[1:])
