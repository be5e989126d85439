// Package batch decides many cases read as JSON lines, for conformance suites
// and for people who ask about a whole list of URLs. Nothing is fetched: each
// case brings its robots.txt along.
package batch

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/robotsgate/robotsgate/agent"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/matcher"
	"github.com/robotsgate/robotsgate/parser"
)

// bufferSize serves lines of the usual size without a copy; longer ones work.
const bufferSize = 1 << 20

// request is one line of input.
type request struct {
	ID        json.RawMessage `json:"id"`
	Robots    *string         `json:"robots"`
	RobotsB64 *string         `json:"robots_b64"`
	UserAgent *string         `json:"user_agent"`
	Token     *string         `json:"token"`
	URL       *string         `json:"url"`
	URLB64    *string         `json:"url_b64"`
	Paths     string          `json:"paths"`
}

// result is one line of output.
type result struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Allowed bool            `json:"allowed"`
	Reason  decision.Reason `json:"reason"`
	Token   string          `json:"token"`
	Rule    string          `json:"rule,omitempty"`
	Line    int             `json:"line,omitempty"`
}

// failure is the line of output for a case that cannot be decided.
type failure struct {
	ID    json.RawMessage `json:"id,omitempty"`
	Error string          `json:"error"`
}

// Run answers every line of in with a line of out, in order, and passes on what
// it has answered whenever in has nothing more at hand. A case that does not
// say otherwise is judged in `paths strict`, unless rfc is set. It returns how
// many cases could not be decided; err is a failure to read or write.
func Run(in io.Reader, out io.Writer, rfc bool) (undecided int, err error) {
	reader := bufio.NewReaderSize(in, bufferSize)
	writer := bufio.NewWriterSize(out, bufferSize)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	r := runner{rfc: rfc}
	for number := 1; ; number++ {
		line, readErr := readLine(reader)
		if len(line) > 0 {
			answer, ok := r.answer(line, number)
			if !ok {
				undecided++
			}
			if err := encoder.Encode(answer); err != nil {
				return undecided, fmt.Errorf("writing the answer to line %d: %w", number, err)
			}
		}
		if readErr != nil {
			if errors.Is(readErr, io.EOF) {
				readErr = nil
			}
			return undecided, errors.Join(readErr, writer.Flush())
		}
		if reader.Buffered() == 0 {
			if err := writer.Flush(); err != nil {
				return undecided, err
			}
		}
	}
}

// readLine returns the next line without its end; its memory is reused.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := slices.Clone(line)
		var rest []byte
		rest, err = r.ReadBytes('\n')
		line = slices.Concat(long, rest)
	}
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r' || line[len(line)-1] == ' ') {
		line = line[:len(line)-1]
	}
	return line, err
}

// runner keeps the file of the case before: lists ask the same one again.
type runner struct {
	rfc     bool
	text    string
	encoded bool
	robots  *parser.Robots
	tokens  []string
}

func (r *runner) answer(line []byte, number int) (answer any, ok bool) {
	var q request
	if err := json.Unmarshal(line, &q); err != nil {
		return failure{ID: q.ID, Error: fmt.Sprintf("line %d is no JSON object of this form: %v", number, err)}, false
	}
	res, err := r.decide(&q)
	if err != nil {
		return failure{ID: q.ID, Error: fmt.Sprintf("line %d: %v", number, err)}, false
	}
	res.ID = q.ID
	return res, true
}

func (r *runner) decide(q *request) (*result, error) {
	url, err := text("url", q.URL, q.URLB64)
	if err != nil {
		return nil, err
	}
	strict, err := r.strict(q.Paths)
	if err != nil {
		return nil, err
	}
	m, err := r.prepare(q)
	if err != nil {
		return nil, err
	}
	path := matcher.PathOf(url)
	var (
		verdict matcher.Verdict
		form    matcher.Form
	)
	if strict {
		verdict, form = m.MatchStrict(path)
	} else {
		verdict = m.Match(path)
	}
	res := &result{Allowed: verdict.Allowed, Token: "*", Reason: reason(m, path, verdict, form)}
	if t := m.Token(); t != "" {
		res.Token = t
	}
	if verdict.Matched {
		res.Rule, res.Line = verdict.Rule.String(), verdict.Rule.Line
	}
	return res, nil
}

func reason(m *matcher.Matcher, path string, v matcher.Verdict, form matcher.Form) decision.Reason {
	if path == "/robots.txt" {
		return decision.RobotsTXT
	}
	return decision.OfRules(v.Allowed, v.Matched, m.HasGroup(), form > matcher.F1)
}

func (r *runner) strict(paths string) (bool, error) {
	switch paths {
	case "":
		return !r.rfc, nil
	case "strict", "rfc":
		return paths == "strict", nil
	}
	return false, fmt.Errorf("paths: %q is neither strict nor rfc", paths)
}

// prepare returns the matcher for the case's file and tokens, parsing the file
// only if it is not the one before.
func (r *runner) prepare(q *request) (*matcher.Matcher, error) {
	if err := r.load(q); err != nil {
		return nil, err
	}
	tokens := r.tokens[:0]
	switch {
	case q.Token != nil && q.UserAgent != nil:
		return nil, errors.New("has both token and user_agent; keep one")
	case q.Token != nil:
		tokens = append(tokens, *q.Token)
	case q.UserAgent != nil:
		tokens = append(tokens, agent.Identify(*q.UserAgent).Tokens()...)
	}
	r.tokens = tokens
	return matcher.New(r.robots, tokens...), nil
}

func (r *runner) load(q *request) error {
	raw, encoded := q.Robots, false
	if raw == nil {
		raw, encoded = q.RobotsB64, true
	}
	if raw != nil && r.robots != nil && encoded == r.encoded && *raw == r.text {
		return nil
	}
	body, err := text("robots", q.Robots, q.RobotsB64)
	if err != nil {
		return err
	}
	r.robots, r.text, r.encoded = parser.Parse([]byte(body)), *raw, encoded
	return nil
}

// text is a value given plainly or in base 64, and one of both.
func text(name string, plain, b64 *string) (string, error) {
	switch {
	case plain != nil && b64 != nil:
		return "", fmt.Errorf("has both %s and %s_b64; keep one", name, name)
	case plain != nil:
		return *plain, nil
	case b64 == nil:
		return "", fmt.Errorf("has neither %s nor %s_b64", name, name)
	}
	decoded, err := base64.StdEncoding.DecodeString(*b64)
	if err != nil {
		return "", fmt.Errorf("%s_b64 is no base 64: %w", name, err)
	}
	return string(decoded), nil
}
