package store_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/robotsgate/robotsgate/internal/store"
)

// killedDir tells a test process that it is the one to be killed.
const killedDir = "ROBOTSGATE_TEST_STORE_DIR"

// TestR59_Killed kills a writing process again and again: whatever it leaves is
// either whole or not there.
func TestR59_Killed(t *testing.T) {
	if dir := os.Getenv(killedDir); dir != "" {
		writeForEver(dir)
	}
	dir := t.TempDir()
	for range 20 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestR59_Killed$")
		cmd.Env = append(os.Environ(), killedDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Its first word says that it writes.
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
	var failed failures
	s := store.New(&certmagic.FileStorage{Path: dir}, store.Config{OnError: failed.note})
	read := 0
	err := filepath.WalkDir(filepath.Join(dir, store.Prefix, "bodies"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum := filepath.Base(path)
		if len(sum) != 64 {
			return nil // what certmagic was writing: never read, pruned by age
		}
		if _, err := s.Body(t.Context(), sum); err != nil {
			t.Errorf("%s: %v", sum, err)
		}
		read++
		return nil
	})
	if err != nil || read == 0 || failed.ops != nil {
		t.Errorf("%d read, failures %v, %v", read, failed.ops, err)
	}
}

func writeForEver(dir string) {
	s := store.New(&certmagic.FileStorage{Path: dir}, store.Config{})
	s.Start()
	for i := 0; ; i++ {
		text := fmt.Sprintf("# %d %d\n%s", os.Getpid(), i, strings.Repeat("Disallow: /x\n", 10_000))
		done := make(chan error, 1)
		s.Save(record(fmt.Sprintf("https://%d.test", i%7), text, time.Now()), []byte(text), func(err error) { done <- err })
		if err := <-done; err != nil {
			os.Exit(1)
		}
		if i == 3 {
			fmt.Println("writing")
		}
	}
}
