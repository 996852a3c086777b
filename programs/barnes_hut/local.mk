# Barnes-Hut N-body, in two forms that share their numerical code.
