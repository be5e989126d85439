package parser

import (
	"bytes"
	"testing"
)

func totalSize(files [][]byte) int64 {
	var n int64
	for _, f := range files {
		n += int64(len(f))
	}
	return n
}

// BenchmarkParse parses every real file once.
func BenchmarkParse(b *testing.B) {
	files := realFiles(b)
	b.SetBytes(totalSize(files))
	b.ReportAllocs()
	var kept int
	for b.Loop() {
		kept = 0
		for _, f := range files {
			kept += Parse(f).Size()
		}
	}
	b.ReportMetric(float64(kept)/float64(totalSize(files)), "kept/file")
}

// BenchmarkNewlineScan is the floor: finding the ends of the same lines.
func BenchmarkNewlineScan(b *testing.B) {
	files := realFiles(b)
	b.SetBytes(totalSize(files))
	n := 0
	for b.Loop() {
		for _, f := range files {
			for len(f) > 0 {
				i := bytes.IndexByte(f, '\n')
				if i < 0 {
					break
				}
				f = f[i+1:]
				n++
			}
		}
	}
}
