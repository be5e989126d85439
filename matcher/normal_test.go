package matcher

import "testing"

func TestNormalize(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"RFC9309_2.2.2_unreserved stays", "/azAZ09-._~", "/azAZ09-._~"},
		{"RFC9309_2.2.2_reserved stays", "/:?#[]@!&'()+,;=", "/:?#[]@!&'()+,;="},
		{"RFC9309_2.2.2_unreserved is decoded", "/%62%61%7A%2D%2e%5f%7e", "/baz-._~"},
		{"RFC9309_2.2.2_reserved stays encoded", "/a%2fb%3F%3d", "/a%2Fb%3F%3D"},
		{"RFC9309_2.2.2_outside ASCII", "/ツ", "/%E3%83%84"},
		{"RFC9309_2.2.2_single octet", "/\xe9", "/%E9"},
		{"hex digits in upper case", "/%e3%83%84", "/%E3%83%84"},
		{"not for URIs", "/ \"<>\\^`{|}\x01\x7f", "/%20%22%3C%3E%5C%5E%60%7B%7C%7D%01%7F"},
		{"operators are escaped", "/a*b$", "/a%2Ab%24"},
		{"no escape", "/%zz%4%", "/%zz%4%"},
		{"decoded once", "/%2562%%32F", "/%2562%2F"},
		{"query as path", "/?q=%41&u=http://h/%2f", "/?q=A&u=http://h/%2F"},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Normalize(test.in); got != test.want {
				t.Errorf("Normalize(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestForms(t *testing.T) {
	for _, test := range []struct {
		in             string
		f2, f3, f4, f5 string
	}{
		{"/a/b?c=//../;%2f", "/a/b?c=//../;%2F", "/a/b?c=//../;%2F", "/a/b?c=//../;%2F", "/a/b?c=//../;%2F"},
		{"/a/./b/../c", "/a/c", "/a/c", "/a/c", "/a/c"},
		{"/a/%2e%2E/b", "/b", "/b", "/b", "/b"},
		{"/../a/..", "/", "/", "/", "/"},
		{"/a/.", "/a/", "/a/", "/a/", "/a/"},
		{"/.a/..b/...", "/.a/..b/...", "/.a/..b/...", "/.a/..b/...", "/.a/..b/..."},
		{"//a///b", "//a///b", "/a/b", "/a/b", "/a/b"},
		{"//../a", "/a", "/a", "/a", "/a"},
		{"/.//a", "//a", "/a", "/a", "/a"},
		{"/a%2f..%2fb", "/a%2F..%2Fb", "/a%2F..%2Fb", "/b", "/b"},
		{`/a\..\b%5c%5Cc`, "/a%5C..%5Cb%5C%5Cc", "/a%5C..%5Cb%5C%5Cc", "/b/c", "/b/c"},
		{"/;/private/x", "/;/private/x", "/;/private/x", "/;/private/x", "/private/x"},
		{"/a/..;b=c/private;d?e;f", "/a/..;b=c/private;d?e;f", "/a/..;b=c/private;d?e;f", "/a/..;b=c/private;d?e;f", "/private?e;f"},
		{"/%252fx", "/%252fx", "/%252fx", "/%252fx", "/%252fx"},
		{"*", "%2A", "%2A", "%2A", "%2A"},
	} {
		t.Run(test.in, func(t *testing.T) {
			want := [5]string{Normalize(test.in), test.f2, test.f3, test.f4, test.f5}
			if got := Forms(test.in); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			same := want == [5]string{want[0], want[0], want[0], want[0], want[0]}
			if sameForms(want[0], octetsOf(want[0])) && !same {
				t.Errorf("sameForms(%q) although the forms are %q", want[0], want)
			}
		})
	}
}

func TestPathOf(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"http://example.com/a/b?c=d#e", "/a/b?c=d"},
		{"HTTPS://user:pw@EXAMPLE.com:8080/A", "/A"},
		{"http://example.com", "/"},
		{"http://example.com?x", "/?x"},
		{"http://example.com#x/y", "/"},
		{"http://example.com;x", "/;x"},
		{"http://[::1]/x", "/x"},
		{"http:///x", "/x"},
		{"example.com/x", "/x"},
		{"//example.com//x", "//x"},
		{"example.com", "/"},
		{"/x?u=http://other/y", "/x?u=http://other/y"},
		{"?x", "/?x"},
		{"", "/"},
	} {
		if got := PathOf(test.url); got != test.want {
			t.Errorf("PathOf(%q) = %q, want %q", test.url, got, test.want)
		}
	}
}
