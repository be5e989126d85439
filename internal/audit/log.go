// Package audit reads access logs back: it summarises the records in them and
// decides each of them again. It knows the record's fields and nothing of the
// server that wrote them.
package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// blockSize is how much of a log is handed on at once.
	blockSize = 1 << 20
	// maxLine bounds one line: Caddy's lines hold headers of 1 MiB at most.
	maxLine = 8 << 20
	// zstdMemory bounds what decoding a log compressed with zstd may take.
	zstdMemory = 128 << 20
)

// Log is one file of an access log: plain, or compressed with gzip or zstd,
// which is told by its first octets and not by its name.
type Log struct {
	// Name is shown to people.
	Name string
	// Size in octets as stored, 0 where it is not known.
	Size int64
	// Open begins to read it.
	Open func() (io.ReadCloser, error)
}

// Files makes logs of file names; "-" stands for stdin. A name that is no
// readable file is an error, so that nobody takes a typing error for an empty
// log.
func Files(names []string, stdin io.Reader) ([]Log, error) {
	var logs []Log
	for _, name := range names {
		if name == "-" {
			logs = append(logs, Log{Name: "standard input", Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }})
			continue
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", name, pathCause(err))
		case info.IsDir():
			return nil, fmt.Errorf("reading %s: is a directory; name its files, for example %s/*", name, strings.TrimSuffix(name, "/"))
		}
		logs = append(logs, Log{Name: name, Size: info.Size(), Open: func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	return logs, nil
}

// pathCause takes the file name off an error that is going to name it.
func pathCause(err error) error {
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// decompressed reads r through the decoder that its first octets ask for.
func decompressed(r io.Reader) (io.Reader, func(), error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	magic, _ := buffered.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		decoder, err := gzip.NewReader(buffered)
		return decoder, func() {}, err
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		decoder, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(zstdMemory))
		if err != nil {
			return nil, func() {}, err
		}
		return decoder, decoder.Close, nil
	default:
		return buffered, func() {}, nil
	}
}

// block is a run of whole lines of one log.
type block struct {
	log   int
	first int // number of its first line, from 1
	data  []byte
	// long counts lines too long to be looked at, which data leaves out.
	long int
}

// splitter cuts a log into blocks of whole lines.
type splitter struct {
	in    io.Reader
	log   int
	line  int // number of the next line
	carry []byte
	// dropping is set within a line that is too long.
	dropping bool
	done     bool
	// err is why the log ended, nil at its proper end.
	err error
}

// next fills b, whose buffer it reuses, and reports whether there was more.
func (s *splitter) next(b *block) bool {
	if s.done {
		return false
	}
	*b = block{log: s.log, first: s.line, data: append(b.data[:0], s.carry...)}
	s.carry = s.carry[:0]
	for {
		err := s.fill(b)
		if s.dropping {
			s.drop(b)
		}
		if err != nil {
			s.finish(b, err)
			return true
		}
		if end := bytes.LastIndexByte(b.data, '\n'); end >= 0 {
			s.carry = append(s.carry, b.data[end+1:]...)
			b.data = b.data[:end+1]
			s.line += bytes.Count(b.data, newline)
			return true
		}
		if len(b.data) > maxLine {
			b.data, s.dropping = b.data[:0], true
		}
	}
}

var newline = []byte{'\n'}

// fill reads a block's worth behind what b has already.
func (s *splitter) fill(b *block) error {
	want := min(max(blockSize, len(b.data)*2), maxLine+1)
	if cap(b.data) < want {
		b.data = append(make([]byte, 0, want), b.data...)
	}
	for len(b.data) < want {
		n, err := s.in.Read(b.data[len(b.data):want])
		b.data = b.data[:len(b.data)+n]
		if err != nil {
			return err
		}
	}
	return nil
}

// drop takes the rest of a line that is too long off the block's front.
func (s *splitter) drop(b *block) {
	end := bytes.IndexByte(b.data, '\n')
	if end < 0 {
		b.data = b.data[:0]
		return
	}
	b.data = b.data[end+1:]
	s.dropping = false
	b.long++
	s.line++
	b.first = s.line
}

// finish ends the log: what remains is its last lines, the very last perhaps
// cut.
func (s *splitter) finish(b *block, err error) {
	s.done = true
	if s.dropping {
		b.long++
	}
	if !errors.Is(err, io.EOF) {
		s.err = err
	}
}

// readLogs cuts the logs into blocks, one after the other. A log that cannot be
// read to its end is told to problem, and what could be read counts.
func readLogs(ctx context.Context, logs []Log, obtain func() *block, emit func(*block) bool, problem func(log int, err error)) error {
	for i, log := range logs {
		if err := readLog(ctx, i, log, obtain, emit, problem); err != nil {
			return err
		}
	}
	return nil
}

func readLog(ctx context.Context, index int, log Log, obtain func() *block, emit func(*block) bool, problem func(log int, err error)) error {
	file, err := log.Open()
	if err != nil {
		return fmt.Errorf("reading %s: %w", log.Name, pathCause(err))
	}
	defer file.Close()
	in, done, err := decompressed(file)
	defer done()
	if err != nil {
		problem(index, err)
		return nil
	}
	s := &splitter{in: in, log: index, line: 1}
	for {
		b := obtain()
		if !s.next(b) {
			break
		}
		if !emit(b) {
			return context.Cause(ctx)
		}
	}
	if s.err != nil {
		problem(index, s.err)
	}
	return nil
}
