package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// guarded pins the newest version and writes its list; where a figure of the
// development sets falls it puts back what was there and fails.
func guarded() (err error) {
	old, err := readPin(pinFile)
	if err != nil {
		return err
	}
	newest, err := old.latest()
	if err != nil {
		return err
	}
	before, err := figures()
	if err != nil {
		return err
	}
	undo, err := remember(pinFile, listFile, licenceFile)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, undo())
		}
	}()
	if err := newest.write(pinFile); err != nil {
		return err
	}
	if err := generate(); err != nil {
		return err
	}
	after, err := figures()
	if err != nil {
		return err
	}
	return fallen(before, after)
}

// figure is one of those that benchmarks/agents prints.
type figure struct {
	Name      string
	Right, Of int
}

// figures measures the package as it now is.
func figures() ([]figure, error) {
	cmd := exec.Command("go", "run", "./agents", "-json")
	cmd.Dir, cmd.Stderr = "../benchmarks", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("measuring the figures of the development sets: %w", err)
	}
	var f []figure
	if err := json.Unmarshal(out, &f); err != nil {
		return nil, fmt.Errorf("reading the figures: %w", err)
	}
	return f, nil
}

// fallen prints the figures and names those that are lower than before.
func fallen(before, after []figure) error {
	if len(before) != len(after) {
		return fmt.Errorf("there were %d figures and there are %d", len(before), len(after))
	}
	var errs []error
	for i, a := range after {
		fmt.Printf("%-58s %d of %d, was %d\n", a.Name, a.Right, a.Of, before[i].Right)
		if a.Right < before[i].Right {
			errs = append(errs, fmt.Errorf("%s: %d of %d, was %d: look at the new words of %s, and keep the plain ones out in words.go", a.Name, a.Right, a.Of, before[i].Right, listFile))
		}
	}
	return errors.Join(errs...)
}

// remember reads the files and returns what writes them back.
func remember(paths ...string) (undo func() error, err error) {
	texts := make([][]byte, len(paths))
	for i, path := range paths {
		if texts[i], err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("reading what the update replaces: %w", err)
		}
	}
	return func() error {
		var errs []error
		for i, path := range paths {
			errs = append(errs, os.WriteFile(path, texts[i], 0o644))
		}
		return errors.Join(errs...)
	}, nil
}
