package dev.ashlar.it.linear;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.RawConnection.Answer;
import java.io.IOException;
import java.util.Map;

/** What may be asked of one key. */
sealed interface ObjectCall {
  /** Sends it and waits for the answer. */
  Answer send(ChangeClient client, String key) throws IOException;

  /** Whether it may change the object. */
  default boolean isWrite() {
    return true;
  }

  /** Makes or replaces the object. */
  record Put(byte[] bytes) implements ObjectCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return client.put(key, bytes);
    }

    @Override
    public String toString() {
      return "PUT " + bytes.length;
    }
  }

  /** With x-amz-write-offset-bytes. */
  record Append(int offset, byte[] bytes) implements ObjectCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return client.send("PUT", key, "", bytes, Map.of("x-amz-write-offset-bytes", "" + offset));
    }

    @Override
    public String toString() {
      return "APPEND " + offset + "+" + bytes.length;
    }
  }

  /** PATCH of the bytes from an offset on. */
  record Patch(int offset, byte[] bytes) implements ObjectCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return client.patch(key, offset, bytes);
    }

    @Override
    public String toString() {
      return "PATCH " + offset + "+" + bytes.length;
    }
  }

  /** All of it. */
  record Get() implements ObjectCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return client.send("GET", key, "", new byte[0], Map.of());
    }

    @Override
    public boolean isWrite() {
      return false;
    }
  }

  /** Also where there is none. */
  record Delete() implements ObjectCall {
    @Override
    public Answer send(ChangeClient client, String key) throws IOException {
      return client.send("DELETE", key, "", new byte[0], Map.of());
    }
  }
}
