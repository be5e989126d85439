package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pin names one version of an npm package by its content.
type pin struct {
	Package   string `json:"package"`
	Version   string `json:"version"`
	Integrity string `json:"integrity"` // "sha512-" and the base64 of the tarball's SHA-512
}

func readPin(path string) (pin, error) {
	var p pin
	text, err := os.ReadFile(path)
	if err != nil {
		return p, fmt.Errorf("reading the pinned version: %w", err)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("reading the pinned version in %s: %w", path, err)
	}
	return p, nil
}

func (p pin) write(path string) error {
	text, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		return fmt.Errorf("writing the pinned version: %w", err)
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// latest asks the registry for the newest version of the package.
func (p pin) latest() (pin, error) {
	out, err := npm("view", p.Package+"@latest", "--json", "version", "dist.integrity")
	if err != nil {
		return p, err
	}
	var answer struct {
		Version   string `json:"version"`
		Integrity string `json:"dist.integrity"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return p, fmt.Errorf("reading npm's answer on %s: %w", p.Package, err)
	}
	if answer.Version == "" || answer.Integrity == "" {
		return p, fmt.Errorf("npm names no version or no integrity of %s", p.Package)
	}
	p.Version, p.Integrity = answer.Version, answer.Integrity
	return p, nil
}

// fetch returns the named files of the package, once its content is the pinned
// one.
func (p pin) fetch(names ...string) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "crawlers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := npm("pack", "--silent", "--pack-destination", dir, p.Package+"@"+p.Version); err != nil {
		return nil, err
	}
	tarballs, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(tarballs) != 1 {
		return nil, fmt.Errorf("npm pack left %d tarballs, want one", len(tarballs))
	}
	tarball, err := os.ReadFile(tarballs[0])
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(tarball)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != p.Integrity {
		return nil, fmt.Errorf("%s@%s is not the pinned one: its integrity is %s, want %s", p.Package, p.Version, got, p.Integrity)
	}
	return untar(tarball, names)
}

func npm(args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("npm", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running npm %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// untar returns the named files of an npm tarball.
func untar(tarball []byte, names []string) (map[string][]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, fmt.Errorf("unpacking the tarball: %w", err)
	}
	files := make(map[string][]byte)
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("unpacking the tarball: %w", err)
		}
		for _, name := range names {
			if h.Name == "package/"+name {
				if files[name], err = io.ReadAll(t); err != nil {
					return nil, fmt.Errorf("unpacking %s: %w", name, err)
				}
			}
		}
	}
	for _, name := range names {
		if files[name] == nil {
			return nil, fmt.Errorf("the tarball has no %s", name)
		}
	}
	return files, nil
}
