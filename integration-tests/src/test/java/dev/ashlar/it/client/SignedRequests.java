package dev.ashlar.it.client;

import java.io.IOException;
import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;

/** Requests that the SDK has no method for, with its signer; the example of s3-changes.md. */
record SignedRequests(SdkHttpClient http, URI endpoint, String region, AwsCredentials credentials) {
  /** Overwrites the bytes from an offset on; what runs past the end is appended. */
  HttpExecuteResponse patch(String path, long offset, byte[] body) throws IOException {
    String range = "bytes " + offset + "-" + (offset + body.length - 1) + "/*";
    SdkHttpRequest.Builder request =
        SdkHttpRequest.builder().method(SdkHttpMethod.PATCH).putHeader("Content-Range", range);
    return send(request.uri(endpoint.resolve(path)), body);
  }

  /** Appends as radosgw does; x-rgw-next-append-position of the answer is the next position. */
  HttpExecuteResponse append(String path, long position, byte[] body) throws IOException {
    SdkHttpRequest.Builder request =
        SdkHttpRequest.builder().method(SdkHttpMethod.POST).uri(endpoint.resolve(path));
    request.putRawQueryParameter("append", "");
    request.putRawQueryParameter("position", Long.toString(position));
    return send(request, body);
  }

  private HttpExecuteResponse send(SdkHttpRequest.Builder request, byte[] body) throws IOException {
    request.putHeader("Content-Length", Integer.toString(body.length));
    SignedRequest signed =
        AwsV4HttpSigner.create()
            .sign(
                sign ->
                    sign.identity(credentials)
                        .request(request.build())
                        .payload(ContentStreamProvider.fromByteArray(body))
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, region)
                        .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false));
    return http.prepareRequest(
            HttpExecuteRequest.builder()
                .request(signed.request())
                .contentStreamProvider(signed.payload().orElseThrow())
                .build())
        .call();
  }
}
