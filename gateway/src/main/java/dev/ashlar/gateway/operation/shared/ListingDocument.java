package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request.Listing;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.model.PlacedProfile;

/** Writes the elements that the documents of all listings share. */
public final class ListingDocument {
  private final XmlWriter xml;
  private final Listing listing;

  public ListingDocument(String root, Listing listing) {
    this.xml = new XmlWriter().openRoot(root);
    this.listing = listing;
  }

  public XmlWriter xml() {
    return xml;
  }

  /** An element that holds a name, or a part of one, encoded as the client asked. */
  public ListingDocument name(String element, String value) {
    xml.element(element, listing.url() ? Percent.encode(value) : value);
    return this;
  }

  /**
   * The prefix of ListObjects, encoded only as far as it must be to come out of a decoder as it
   * was: botocore does not decode it, though S3 documents that it is encoded as names are.
   */
  public ListingDocument echoedPrefix() {
    String prefix = listing.prefix();
    xml.element("Prefix", listing.url() ? Percent.encodeAmbiguous(prefix) : prefix);
    return this;
  }

  /** As {@link #name}, but nothing for an empty value. */
  public ListingDocument optionalName(String element, String value) {
    return value.isEmpty() ? this : name(element, value);
  }

  /** The parameters of the listing, and whether there are more entries. */
  public ListingDocument parameters(String maxElement, boolean isTruncated) {
    xml.element(maxElement, listing.max());
    optionalName("Delimiter", listing.delimiter());
    if (listing.url()) {
      xml.element("EncodingType", "url");
    }
    xml.element("IsTruncated", isTruncated);
    return this;
  }

  /** The fields of an object, inside the element that is open. */
  public ListingDocument object(String key, ObjectSummary summary) {
    name("Key", key);
    xml.element("LastModified", S3Dates.xml(summary.getLastModifiedMs()));
    xml.element("ETag", Etags.quote(summary.getEtag()));
    ChecksumValue checksum = summary.getChecksum();
    Answers.writeChecksumAlgorithm(xml, checksum.getAlgorithm(), checksum.getType());
    xml.element("Size", summary.getSize());
    xml.element("StorageClass", PlacedProfile.className(summary.getStorageClass()));
    return this;
  }

  public ListingDocument commonPrefix(String prefix) {
    xml.open("CommonPrefixes");
    name("Prefix", prefix);
    xml.close();
    return this;
  }

  public ListingDocument commonPrefixes(ListPage page) {
    for (ListPage.Entry entry : page.entries()) {
      if (entry instanceof ListPage.CommonPrefix prefix) {
        commonPrefix(prefix.name());
      }
    }
    return this;
  }
}
