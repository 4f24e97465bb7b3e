# SPDX-License-Identifier: Apache-2.0
# needs: javac
cat >A.java <<'X'
import java.net.*;
import java.nio.file.*;
import java.util.concurrent.*;
public class A {
  public static void main(String[] a) throws Exception {
    var pool = Executors.newFixedThreadPool(8);
    if (pool.submit(() -> 42).get() != 42) System.exit(1);
    pool.shutdown();
    Files.writeString(Path.of("f"), "x");
    NetworkInterface.getNetworkInterfaces();
    if (new ProcessBuilder("cat", "f").start().waitFor() != 0) System.exit(2);
    try (var s = new ServerSocket(0); var c = new Socket("127.0.0.1", s.getLocalPort())) { }
    System.gc();
    System.out.println("made");
  }
}
X
javac A.java
test "$(java -Xmx256m A)" = made
echo done
