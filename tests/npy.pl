#!/usr/bin/perl
# npy.pl: small files in NumPy's format (.npy) for tests, written by other code than Halotune's.
#   npy.pl write FILE TYPE SHAPE EXPRESSION   SHAPE as in '4,3' (z, y, x); the value of each element is that of a Perl
#                                             expression of its indices $x, $y, $z; TYPE is '<f4', '<f8', '|u1' or '|b1'
#   npy.pl header FILE VERSION TEXT BYTES     any header, and so many zero bytes
#   npy.pl print FILE                         type and shape, then the elements, a row in a line
use strict;
use warnings;

my %codes = ('<f4' => 'f<', '<f8' => 'd<', '|u1' => 'C', '|b1' => 'C');

sub put {    # file, header's text, version, elements
  my ($file, $text, $version, $elements) = @_;
  my $prefix = "\x93NUMPY" . chr($version) . "\0";
  $text .= ' ' while (length($prefix) + ($version == 1 ? 2 : 4) + length($text) + 1) % 64;
  $text .= "\n";
  open(my $out, '>:raw', $file) or die "$file: $!";
  print $out $prefix . pack($version == 1 ? 'v' : 'V', length $text) . $text . $elements;
  close $out or die "$file: $!";
}

my ($what, $file, @rest) = @ARGV;
if ($what eq 'write') {
  my ($type, $shape, $expression) = @rest;
  my @shape = split /,/, $shape;
  my ($nx, $ny, $nz) = ((reverse @shape), 1, 1);
  my $value = eval "no strict; sub { my (\$x, \$y, \$z) = \@_; $expression }" or die $@;
  my $elements = '';
  for my $z (0 .. $nz - 1) {
    for my $y (0 .. $ny - 1) { $elements .= pack("$codes{$type}*", map { $value->($_, $y, $z) } 0 .. $nx - 1) }
  }
  my $tuple = join(', ', @shape) . (@shape == 1 ? ',' : '');
  put($file, "{'descr': '$type', 'fortran_order': False, 'shape': ($tuple), }", 1, $elements);
} elsif ($what eq 'header') {
  put($file, $rest[1], $rest[0], "\0" x $rest[2]);
} else {
  local $/;
  open(my $in, '<:raw', $file) or die "$file: $!";
  my $bytes = <$in>;
  my $length = unpack('v', substr($bytes, 8, 2));
  my $text = substr($bytes, 10, $length);
  $text =~ /'descr': '(...)'.*'shape': \(([^)]*)\)/ or die $text;
  my ($type, @shape) = ($1, split /, ?/, $2);
  my @values = unpack("$codes{$type}*", substr($bytes, 10 + $length));
  print "$type (", join(', ', @shape), ")\n";
  print join(' ', map { sprintf '%.9g', $_ } splice(@values, 0, $shape[-1])), "\n" while @values;
}
