package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	tests := []struct {
		name, list string
		want       []string
	}{
		{
			"a match is widened to whole words",
			`[{"pattern": "[pP]ingdom", "instances": ["Mozilla/5.0 (X11) PingdomTMS/0.8.5", "pingdom.com_bot_1.4 (a)"]}]`,
			[]string{"pingdom.com_bot_1.4", "pingdomtms"},
		},
		{
			"classes, groups and anchors need no expression any more",
			`[{"pattern": "^(sistrix|SISTRIX) [cC]rawler\\/", "instances": ["SISTRIX Crawler/2"]}]`,
			[]string{"sistrix crawler"},
		},
		{
			"a match in an address is known without a list",
			`[{"pattern": "yandex\\.com\\/bots", "instances": ["X/1 (+http://yandex.com/bots)"]},
			  {"pattern": "infegy", "instances": ["X/1 collection@infegy.com"]}]`,
			nil,
		},
		{
			"a pattern without User-Agents stands for its literal",
			`[{"pattern": "Exabot\\/", "instances": []}, {"pattern": "a[bc]+d"}]`,
			[]string{"exabot"},
		},
		{
			"names too plain are left out",
			`[{"pattern": "Make\\/", "instances": ["Make/1.0"]}, {"pattern": "^BW\\/", "instances": ["BW/1"]}]`,
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := names([]byte(tt.list))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("names = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	for _, list := range []string{`{`, `[{"pattern": "("}]`} {
		if _, err := names([]byte(list)); err == nil {
			t.Errorf("names(%s) gives no error", list)
		}
	}
}

func TestUntar(t *testing.T) {
	var tarball bytes.Buffer
	z := gzip.NewWriter(&tarball)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "package/LICENSE", Size: 3, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("MIT")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := untar(tarball.Bytes(), []string{"LICENSE"})
	if err != nil || string(files["LICENSE"]) != "MIT" {
		t.Errorf("untar = %q, %v", files, err)
	}
	if _, err := untar(tarball.Bytes(), []string{"LICENSE", "list.json"}); err == nil || !strings.Contains(err.Error(), "list.json") {
		t.Errorf("untar of a missing file: %v", err)
	}
	if _, err := untar([]byte("no tarball"), nil); err == nil {
		t.Error("untar of anything gives no error")
	}
}

func TestFallen(t *testing.T) {
	before := []figure{{"found", 90, 100}, {"right", 50, 50}}
	if err := fallen(before, []figure{{"found", 91, 100}, {"right", 50, 50}}); err != nil {
		t.Errorf("a figure that rose: %v", err)
	}
	err := fallen(before, []figure{{"found", 95, 100}, {"right", 49, 50}})
	if err == nil || !strings.Contains(err.Error(), "right: 49 of 50, was 50") || strings.Contains(err.Error(), "found") {
		t.Errorf("a figure that fell: %v", err)
	}
	if err := fallen(before, before[:1]); err == nil {
		t.Error("a lost figure gives no error")
	}
}

func TestRemember(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	undo, err := remember(path)
	if err != nil {
		t.Fatal(err)
	}
	write("new")
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("put back is %q, %v", text, err)
	}
}

func TestPin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pin.json")
	want := pin{"crawler-user-agents", "1.0.0", "sha512-x"}
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	if got, err := readPin(path); err != nil || got != want {
		t.Errorf("readPin = %+v, %v, want %+v", got, err, want)
	}
}
