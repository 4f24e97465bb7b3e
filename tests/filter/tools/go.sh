# SPDX-License-Identifier: Apache-2.0
# needs: go
export HOME="$PWD"
cat >a.go <<'X'
package main

func main() { c := make(chan int); go func() { c <- 1 }(); <-c }
X
go run a.go
echo done
