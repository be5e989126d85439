package app

import (
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// isOwnListener reports whether a dial to addr would reach this very process:
// one of its sites or the admin API. Both would let a job act as the gate.
func (a *App) isOwnListener(addr netip.AddrPort) bool {
	return a.listensOn(addr) && isLocal(addr.Addr())
}

func (a *App) listensOn(addr netip.AddrPort) bool {
	port := strconv.Itoa(int(addr.Port()))
	ip := addr.Addr().Unmap()
	for _, host := range []string{"", "localhost", "0.0.0.0", "::", "127.0.0.1", "::1", ip.String()} {
		if caddy.ListenerUsage("tcp", net.JoinHostPort(host, port)) > 0 {
			return true
		}
	}
	// Sites on port 0 are known by the sockets that they got.
	httpApp, err := a.ctx.AppIfConfigured("http")
	if err != nil {
		return false
	}
	for _, server := range httpApp.(*caddyhttp.App).Servers {
		for _, ln := range server.Listeners() {
			if tcp, ok := ln.Addr().(*net.TCPAddr); ok && tcp.Port == int(addr.Port()) {
				return true
			}
		}
	}
	return false
}

// isLocal reports whether ip is an address of this machine.
func isLocal(ip netip.Addr) bool {
	ip = ip.Unmap()
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		// What cannot be told apart from the gate is treated as the gate.
		return true
	}
	return slices.ContainsFunc(addrs, func(addr net.Addr) bool {
		prefix, err := netip.ParsePrefix(addr.String())
		return err == nil && prefix.Addr().Unmap() == ip
	})
}
