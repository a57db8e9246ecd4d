package dev.ashlar.importer;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsRequest;

/** An object store that speaks S3: the source or the target of an import. For many threads. */
public final class Side implements AutoCloseable {
  private static final int TRIES = 8;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final ExecutionAttribute<AtomicReference<byte[]>> DOCUMENT =
      new ExecutionAttribute<>("AshlarImportDocument");

  private final S3Client client;
  private final URI endpoint;

  /**
   * Where it is, and who calls.
   *
   * @param trusted authorities of its certificate; null: those that Java knows
   */
  public record Access(
      URI endpoint,
      String region,
      String accessKey,
      String secretKey,
      Optional<String> sessionToken,
      TrustManager @Nullable [] trusted) {
    @Override
    public String toString() {
      return "Access[endpoint=" + endpoint + ", accessKey=" + accessKey + "]";
    }
  }

  /**
   * @param connections how many requests run at once at most
   */
  public Side(Access access, int connections) {
    this.endpoint = access.endpoint();
    Apache5HttpClient.Builder http =
        Apache5HttpClient.builder()
            .maxConnections(connections)
            .connectionAcquisitionTimeout(TIMEOUT.multipliedBy(10))
            .socketTimeout(TIMEOUT)
            .expectContinueEnabled(false);
    TrustManager[] trusted = access.trusted();
    if (trusted != null) {
      http.tlsTrustManagersProvider(() -> trusted);
    }
    this.client =
        S3Client.builder()
            .endpointOverride(endpoint)
            .region(Region.of(access.region()))
            .credentialsProvider(StaticCredentialsProvider.create(credentials(access)))
            .forcePathStyle(true)
            // What the source has of checksums is sent along; nothing else is added.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .httpClientBuilder(http)
            .overrideConfiguration(
                c ->
                    c.retryStrategy(
                            AwsRetryStrategy.standardRetryStrategy().toBuilder()
                                .maxAttempts(TRIES)
                                .build())
                        .addExecutionInterceptor(new DocumentKeeper()))
            .build();
  }

  private static AwsCredentials credentials(Access access) {
    return access
        .sessionToken()
        .<AwsCredentials>map(
            token -> AwsSessionCredentials.create(access.accessKey(), access.secretKey(), token))
        .orElseGet(() -> AwsBasicCredentials.create(access.accessKey(), access.secretKey()));
  }

  S3Client s3() {
    return client;
  }

  @Override
  public String toString() {
    return endpoint.toString();
  }

  /** Versions behind a version of a key; at the beginning both are empty. */
  VersionPage versions(String bucket, String prefix, String key, String versionId)
      throws IOException {
    AtomicReference<byte[]> document = new AtomicReference<>();
    ListObjectVersionsRequest.Builder request =
        ListObjectVersionsRequest.builder()
            .bucket(bucket)
            .prefix(prefix)
            .encodingType(EncodingType.URL)
            .overrideConfiguration(c -> c.putExecutionAttribute(DOCUMENT, document));
    if (!key.isEmpty()) {
      request.keyMarker(key);
    }
    if (!versionId.isEmpty()) {
      request.versionIdMarker(versionId);
    }
    client.listObjectVersions(request.build());
    return VersionPage.read(
        new ByteArrayInputStream(Objects.requireNonNull(document.get(), "no document")));
  }

  @Override
  public void close() {
    client.close();
  }

  /** Keeps the document of an answer for whoever asked for it. */
  private static final class DocumentKeeper implements ExecutionInterceptor {
    @Override
    public Optional<InputStream> modifyHttpResponseContent(
        Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
      AtomicReference<byte[]> document = attributes.getAttribute(DOCUMENT);
      if (document == null
          || !context.httpResponse().isSuccessful()
          || context.responseBody().isEmpty()) {
        return context.responseBody();
      }
      try (InputStream body = context.responseBody().get()) {
        byte[] bytes = body.readAllBytes();
        document.set(bytes);
        return Optional.of(new ByteArrayInputStream(bytes));
      } catch (IOException e) {
        throw software.amazon.awssdk.core.exception.SdkClientException.create(
            "the list of versions was cut off", e);
      }
    }
  }
}
