package audit

import (
	"bytes"
	"context"
	"runtime"
	"sync"
)

// Progress is told from time to time how much of the logs has been read: of
// which log, and how many lines of all logs so far.
type Progress func(log Log, lines int64)

// Damage is a log, or a part of one, that could not be read.
type Damage struct {
	Log   string `json:"log"`
	Cause string `json:"cause"`
}

// job is one block on its way: lines are read by any worker, and merged in the
// order of the logs.
type job[T any] struct {
	block block
	out   T
	ready chan struct{}
}

// pipeline reads logs on every core. Results come out in the order of the
// logs, so that two runs over the same logs say the same.
type pipeline[T any] struct {
	logs []Log
	// worker makes the function that fills out from a block; each worker has
	// its own. The block's memory is reused after merge.
	worker func() func(b *block, out *T)
	merge  func(b *block, out *T)
	damage func(Damage)
}

func (p *pipeline[T]) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *job[T], 2*workers+2)
	for range cap(free) {
		free <- &job[T]{ready: make(chan struct{}, 1)}
	}
	var (
		todo    = make(chan *job[T], cap(free))
		ordered = make(chan *job[T], cap(free))
		damaged []Damage
		failure error
		group   sync.WaitGroup
	)
	for range workers {
		group.Go(func() {
			work := p.worker()
			for j := range todo {
				work(&j.block, &j.out)
				j.ready <- struct{}{}
			}
		})
	}
	group.Go(func() {
		defer close(todo)
		defer close(ordered)
		var next *job[T]
		failure = readLogs(ctx, p.logs, func() *block {
			if next == nil {
				next = <-free
			}
			return &next.block
		}, func(*block) bool {
			ordered <- next
			todo <- next
			next = nil
			return ctx.Err() == nil
		}, func(log int, err error) {
			damaged = append(damaged, Damage{p.logs[log].Name, err.Error()})
		})
	})
	for j := range ordered {
		<-j.ready
		p.merge(&j.block, &j.out)
		free <- j
	}
	cancel()
	group.Wait()
	for _, d := range damaged {
		p.damage(d)
	}
	return failure
}

// lines calls read for each line of b that is not blank.
func (b *block) lines(read func(number int, text []byte)) {
	number := b.first
	for data := b.data; len(data) > 0; number++ {
		text := data
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			text, data = data[:end], data[end+1:]
		} else {
			data = nil
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			read(number, text)
		}
	}
}
