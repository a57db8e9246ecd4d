package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.cli.RehearsalClient;
import dev.ashlar.server.config.ServerOptions;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that has lost the file of the master key that it made. */
class LostMasterKeyTest {
  @TempDir private Path root = Path.of("");

  private Node start(String... more) throws Exception {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--data=" + root + "/d{1...3}",
                "--metadata=" + root + "/metadata",
                "--profile=2+1",
                "--codec=java",
                "--transport=nio",
                "--listen=http://127.0.0.1:0"));
    options.addAll(List.of(more));
    return new Node(
        ServerOptions.parse(Map.of(), options.toArray(String[]::new)), new SimpleMeterRegistry());
  }

  private void put(String path, String... more) throws Exception {
    Node node = start(more);
    try {
      new RehearsalClient(node.s3Address(), node.root(), "us-east-1")
          .send("PUT", path, "", new byte[0]);
    } finally {
      node.close();
    }
  }

  @Test
  void itDoesNotStartUntilTheFileIsBackOrAnotherKeyIsNamed() throws Exception {
    Path file = root.resolve("metadata").resolve("master-key");
    put("/bucket");
    Files.delete(file);
    put("/bucket/plain"); // nothing is encrypted yet: there is another key
    put("/bucket/k", "--default-encryption=AES256");
    String key = Files.readString(file);
    Files.delete(file);
    IOException e = assertThrows(IOException.class, this::start);
    assertTrue(
        Objects.requireNonNull(e.getMessage()).contains("there is no file master-key"),
        e.getMessage());
    assertFalse(Files.exists(file));
    Files.writeString(file, key);
    put("/bucket/k2");
    Path named = Files.writeString(root.resolve("named"), key);
    Files.delete(file);
    put("/bucket/k3", "--master-key-file=" + named);
    assertFalse(Files.exists(file));
    assertEquals(key, Files.readString(named));
  }
}
