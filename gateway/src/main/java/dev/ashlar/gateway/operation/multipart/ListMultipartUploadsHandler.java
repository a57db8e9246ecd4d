package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.DisplayNames;
import dev.ashlar.gateway.operation.shared.ListingDocument;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.S3Request.Listing;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.PlacedProfile;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Lists multipart uploads in progress. */
public record ListMultipartUploadsHandler(Backend backend) {
  public HttpAnswer handle(S3Request.ListMultipartUploads request, Caller caller)
      throws S3Exception, MetadataUnavailableException {
    Listing listing = request.listing();
    // S3 ignores an upload id without its key.
    String uploadIdMarker = request.keyMarker().isEmpty() ? "" : request.uploadIdMarker();
    UploadsPage page =
        backend
            .metadata()
            .uploads(
                new UploadsQuery(
                    listing.bucket(),
                    listing.prefix(),
                    listing.delimiter(),
                    request.keyMarker(),
                    uploadIdMarker,
                    listing.max()));
    boolean isTruncated = page.truncated() && listing.max() > 0;
    ListingDocument document = new ListingDocument("ListMultipartUploadsResult", listing);
    document.xml().element("Bucket", listing.bucket());
    document.name("KeyMarker", request.keyMarker());
    document.xml().element("UploadIdMarker", uploadIdMarker);
    if (isTruncated) {
      nextMarkers(document, page);
    }
    document.optionalName("Prefix", listing.prefix()).parameters("MaxUploads", isTruncated);
    DisplayNames names = new DisplayNames(backend, caller);
    for (UploadRow upload : page.uploads()) {
      write(document, upload, names);
    }
    page.commonPrefixes().forEach(document::commonPrefix);
    return Answers.xml(document.xml().close());
  }

  /** The next page begins behind the last upload or the last prefix, whichever is later. */
  private static void nextMarkers(ListingDocument document, UploadsPage page) {
    UploadRow upload =
        page.uploads().isEmpty() ? UploadRow.getDefaultInstance() : page.uploads().getLast();
    String prefix = page.commonPrefixes().isEmpty() ? "" : page.commonPrefixes().getLast();
    boolean endsWithUpload = compareUtf8(upload.getKey(), prefix) > 0;
    document.name("NextKeyMarker", endsWithUpload ? upload.getKey() : prefix);
    document.xml().element("NextUploadIdMarker", endsWithUpload ? upload.getUploadId() : "");
  }

  private static int compareUtf8(String a, String b) {
    return Arrays.compareUnsigned(
        a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
  }

  private static void write(ListingDocument document, UploadRow upload, DisplayNames names)
      throws MetadataUnavailableException {
    String initiator = Uploads.initiator(upload);
    XmlWriter xml = document.xml().open("Upload");
    document.name("Key", upload.getKey());
    xml.element("UploadId", upload.getUploadId())
        .person("Initiator", initiator, names.of(initiator))
        .person("Owner", upload.getOwner(), names.of(upload.getOwner()))
        .element("StorageClass", PlacedProfile.className(upload.getStorageClass()))
        .element("Initiated", S3Dates.xml(upload.getInitiatedAtMs()));
    Answers.writeChecksumAlgorithm(xml, upload.getChecksumAlgorithm(), upload.getChecksumType());
    xml.close();
  }
}
