package dev.ashlar.gateway.encryption.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.ashlar.gateway.uri.Percent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Sends calls to the transit engine. Time and memory of a call are bounded. Thread-safe. */
final class VaultCalls {
  private static final int ANSWER_BYTES_MAX = 64 << 10;
  private static final int TRIES = 2;
  private static final int ERROR_CHARS_MAX = 200;
  private static final JsonFactory JSON = new JsonFactory();

  private final HttpClient http;
  private final VaultConfig config;

  VaultCalls(HttpClient http, VaultConfig config) {
    this.http = http;
    this.config = config;
  }

  /**
   * What Vault answered.
   *
   * @param text the wanted field, of a 200 only; null: it is not there
   * @param error what Vault says is wrong, shortened; never a secret
   */
  record Answer(int status, @Nullable String text, String error) {}

  /**
   * @param operation encrypt or decrypt
   * @param field of the data in the answer
   * @throws IOException if Vault does not answer in time, or what it answers is no answer
   */
  Answer call(String operation, String key, Map<String, String> arguments, String field)
      throws IOException, InterruptedException {
    return post(config.mount() + "/" + operation + "/" + Percent.encode(key), arguments, field);
  }

  /**
   * Whether Vault takes the token, whatever its policy permits. No: it has expired, or may not even
   * ask what it may do.
   *
   * @throws IOException as {@link #call}
   */
  boolean takesToken() throws IOException, InterruptedException {
    String mount = config.mount();
    String namespace = mount.substring(0, mount.lastIndexOf('/') + 1);
    return post(namespace + "sys/capabilities-self", Map.of("paths", mount), "").status() == 200;
  }

  private Answer post(String path, Map<String, String> arguments, String field)
      throws IOException, InterruptedException {
    HttpRequest request = request(path, arguments);
    long deadline = System.nanoTime() + config.timeout().toNanos();
    for (int tries = 1; ; tries++) {
      try {
        return answer(send(request, deadline), field);
      } catch (NoAnswerException e) {
        // A connection that had been idle may have been closed at the same moment.
        if (tries == TRIES || System.nanoTime() - deadline >= 0) {
          throw e;
        }
      }
    }
  }

  private HttpRequest request(String path, Map<String, String> arguments) throws IOException {
    try {
      return HttpRequest.newBuilder(
              URI.create(config.address().toString().replaceAll("/+$", "") + "/v1/" + path))
          .header("X-Vault-Token", Files.readString(config.tokenFile()).strip())
          .header("X-Vault-Request", "true")
          .header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofByteArray(document(arguments)))
          .build();
    } catch (IllegalArgumentException e) {
      // The message may quote the token.
      throw new IOException("the token in " + config.tokenFile() + " is none");
    }
  }

  private static byte[] document(Map<String, String> arguments) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      for (Map.Entry<String, String> argument : arguments.entrySet()) {
        json.writeStringField(argument.getKey(), argument.getValue());
      }
      json.writeEndObject();
    }
    return bytes.toByteArray();
  }

  private HttpResponse<byte[]> send(HttpRequest request, long deadline)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<byte[]>> answer =
        http.sendAsync(request, head -> new BoundedBody(ANSWER_BYTES_MAX));
    try {
      return answer.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new IOException("it does not answer in " + config.timeout().toMillis() + " ms", e);
    } catch (ExecutionException e) {
      throw new NoAnswerException(String.valueOf(e.getCause()), e);
    } finally {
      answer.cancel(true);
    }
  }

  private static Answer answer(HttpResponse<byte[]> response, String field) throws IOException {
    byte[] body = response.body();
    if (response.statusCode() != 200) {
      String text = new String(body, UTF_8).replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
      return new Answer(
          response.statusCode(),
          null,
          text.length() > ERROR_CHARS_MAX ? text.substring(0, ERROR_CHARS_MAX) : text);
    }
    try {
      return new Answer(200, ofData(body, field), "");
    } catch (IOException e) {
      // The text around the fault may be a key, so it is not quoted.
      throw new IOException("what it answers is no answer of Vault");
    }
  }

  /** The text of a member of the member {@code data} of the document; null: there is none. */
  private static @Nullable String ofData(byte[] document, String field) throws IOException {
    String found = null;
    try (JsonParser json = JSON.createParser(document)) {
      boolean isObject = json.nextToken() == JsonToken.START_OBJECT;
      while (isObject && json.nextToken() == JsonToken.FIELD_NAME) {
        boolean isData = json.currentName().equals("data");
        JsonToken value = json.nextToken();
        if (isData && value == JsonToken.START_OBJECT) {
          while (json.nextToken() == JsonToken.FIELD_NAME) {
            boolean isWanted = json.currentName().equals(field);
            if (json.nextToken() == JsonToken.VALUE_STRING && isWanted) {
              found = json.getText();
            } else {
              json.skipChildren();
            }
          }
        } else {
          json.skipChildren();
        }
      }
    }
    return found;
  }

  /** There was no answer, and perhaps no call. */
  private static final class NoAnswerException extends IOException {
    private static final long serialVersionUID = 1;

    NoAnswerException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
