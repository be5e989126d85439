package agent

import "fmt"

// explain says why the answer is what it is: one sentence a finding.
func (r *report) explain() []string {
	switch r.option {
	case optionNotBot:
		return []string{fmt.Sprintf("not a bot, since it contains %q, one of the operator's not_bot words", r.word)}
	case optionBot:
		return append([]string{fmt.Sprintf("a bot, since it contains %q, one of the operator's bot words", r.word)}, r.sentences()...)
	}
	if !r.bot {
		return []string{"not a bot, since it has a browser's shape and no rule speaks for a bot"}
	}
	return r.sentences()
}

func (r *report) sentences() []string {
	var why []string
	for _, f := range r.findings[:r.found] {
		why = append(why, f.rule.sentence(r.text(f.start, f.end)))
	}
	return why
}

func (k rule) sentence(part string) string {
	switch k {
	case ruleEmpty:
		return "a bot, since the header is missing or has no word in it"
	case ruleListed:
		return fmt.Sprintf("a bot, since crawler-user-agents lists %q", part)
	case ruleWord:
		return fmt.Sprintf("a bot, since %q holds a word that only bots use", part)
	case ruleHint:
		return fmt.Sprintf("a bot, since %q is no browser's word and speaks of a bot's work", part)
	case ruleURL:
		return fmt.Sprintf("a bot, since it carries the address %q", part)
	case ruleEmail:
		return fmt.Sprintf("a bot, since it carries the e-mail address %q", part)
	case ruleCompatible:
		return fmt.Sprintf("a bot, since the unknown name %q follows \"compatible;\"", part)
	case ruleLayout:
		return fmt.Sprintf("a bot, since the unknown name %q stands in the comment on the layout engine", part)
	case ruleProduct:
		return fmt.Sprintf("a bot, since the unknown name %q follows a complete desktop browser", part)
	case ruleItem:
		return fmt.Sprintf("a bot, since the unknown name %q stands among the systems of a desktop browser", part)
	default:
		return "a bot, since the header does not have the shape of a browser's"
	}
}
