package main

import (
	"crypto/x509"
	"encoding/pem"
	"io"
)

func writePEM(w io.Writer, cert *x509.Certificate) error {
	return pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}
