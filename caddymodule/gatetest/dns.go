package gatetest

import (
	"net"
	"testing"

	"github.com/miekg/dns"
)

// startDNS runs a name server that knows every name below .test, all of them
// 127.0.0.1, and the names of special.test by their first label.
func startDNS(t testing.TB) string {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("starting the name server: %v", err)
	}
	ready := make(chan struct{})
	server := &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(resolve), NotifyStartedFunc: func() { close(ready) }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ActivateAndServe()
	}()
	<-ready
	t.Cleanup(func() {
		_ = server.Shutdown()
		<-done
	})
	return packets.LocalAddr().String()
}

func resolve(w dns.ResponseWriter, query *dns.Msg) {
	answer := new(dns.Msg)
	answer.SetReply(query)
	name := query.Question[0].Name
	switch {
	case !dns.IsSubDomain("test.", name):
		answer.Rcode = dns.RcodeNameError
	case query.Question[0].Qtype != dns.TypeA:
	default:
		ip := net.IPv4(127, 0, 0, 1)
		if name == "metadata.special.test." {
			ip = net.IPv4(169, 254, 169, 254)
		}
		answer.Answer = []dns.RR{&dns.A{
			Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}, A: ip,
		}}
	}
	_ = w.WriteMsg(answer)
}
