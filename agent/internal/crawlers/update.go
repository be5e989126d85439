package main

func guarded() error { return generate() }
