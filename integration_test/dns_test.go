package integration_test

import (
	"errors"
	"net"
	"testing"

	"github.com/miekg/dns"
)

// newDNS starts a name server that gives 127.0.0.1 for every name and returns
// its address.
func newDNS(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
		answer := new(dns.Msg).SetReply(query)
		for _, q := range query.Question {
			if q.Qtype == dns.TypeA {
				answer.Answer = append(answer.Answer, &dns.A{
					Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60},
					A:   net.IPv4(127, 0, 0, 1),
				})
			}
		}
		if err := w.WriteMsg(answer); err != nil {
			t.Errorf("answering a DNS query: %v", err)
		}
	})}
	started := make(chan struct{})
	server.NotifyStartedFunc = func() { close(started) }
	done := make(chan error, 1)
	go func() { done <- server.ActivateAndServe() }()
	select {
	case <-started:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(), <-done); err != nil {
			t.Errorf("ending the name server: %v", err)
		}
	})
	return conn.LocalAddr().String()
}
